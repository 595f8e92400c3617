CREATE TABLE "projects" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	"user_id" text NOT NULL REFERENCES "users" ("id") ON DELETE CASCADE,
	"name" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "members" (
	"project_id" bigint NOT NULL REFERENCES "projects" ("id") ON DELETE CASCADE,
	"email" text NOT NULL,
	PRIMARY KEY ("project_id", "email")
);
--> statement-breakpoint
CREATE TABLE "tickets" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	"project_id" bigint NOT NULL REFERENCES "projects" ("id") ON DELETE CASCADE,
	"user_id" text NOT NULL REFERENCES "users" ("id") ON DELETE CASCADE,
	"title" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
	"text" text NOT NULL
);
