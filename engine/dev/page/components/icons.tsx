/** An icon of 24 by 24 units, drawn with lines. The element beside the icon has the name. */
const icon = (path: string) =>
  function Icon() {
    return (
      <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={path} />
      </svg>
    )
  }

export const MenuIcon = icon('M4 7h16M4 12h16M4 17h16')
export const PersonIcon = icon('M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c.6-3.6 3.4-5 7-5s6.4 1.4 7 5')
export const SettingsIcon = icon('M4 8h10M18 8h2M4 16h2M10 16h10M16 6v4M8 14v4')
export const SignOutIcon = icon('M10 4H5v16h5M9 12h11M16 8l4 4-4 4')
export const EditIcon = icon('M4 20h4L19 9l-4-4L4 16ZM13 7l4 4')
export const DeleteIcon = icon('M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5')
export const MoreIcon = icon('M5 12h.01M12 12h.01M19 12h.01')
