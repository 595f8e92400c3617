export const ideas = {
  ideas: 'Ideas',
  ideaTitle: 'Title',
  addIdea: 'Add a new idea',
  noIdeas: 'You have no ideas.',
}
