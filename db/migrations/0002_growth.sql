CREATE TABLE "task_counts" (
	"user_id" text PRIMARY KEY NOT NULL,
	"pending" bigint NOT NULL,
	"in_progress" bigint NOT NULL,
	"completed" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "task_counts" ADD CONSTRAINT "task_counts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tasks_user_id_status_created_at_id_index" ON "tasks" USING btree ("user_id","status","created_at","id");--> statement-breakpoint
-- Updates the rows in the order of user_id, so that concurrent inserts for several people do not deadlock.
CREATE FUNCTION "task_counts_inserted"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	INSERT INTO task_counts AS counts
		SELECT user_id, count(*) FILTER (WHERE status = 'pending'), count(*) FILTER (WHERE status = 'in_progress'),
			count(*) FILTER (WHERE status = 'completed')
		FROM changed GROUP BY user_id ORDER BY user_id
		ON CONFLICT (user_id) DO UPDATE SET
			pending = counts.pending + excluded.pending,
			in_progress = counts.in_progress + excluded.in_progress,
			completed = counts.completed + excluded.completed;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION "task_counts_updated"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	UPDATE task_counts AS counts SET
		pending = counts.pending + difference.pending,
		in_progress = counts.in_progress + difference.in_progress,
		completed = counts.completed + difference.completed
	FROM (
		SELECT after.user_id, sum((after.status = 'pending')::int - (before.status = 'pending')::int) AS pending,
			sum((after.status = 'in_progress')::int - (before.status = 'in_progress')::int) AS in_progress,
			sum((after.status = 'completed')::int - (before.status = 'completed')::int) AS completed
		FROM changed AS after JOIN previous AS before ON before.id = after.id AND before.status <> after.status
		GROUP BY after.user_id
	) AS difference
	WHERE counts.user_id = difference.user_id;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION "task_counts_deleted"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	UPDATE task_counts AS counts SET
		pending = counts.pending - removed.pending,
		in_progress = counts.in_progress - removed.in_progress,
		completed = counts.completed - removed.completed
	FROM (
		SELECT user_id, count(*) FILTER (WHERE status = 'pending') AS pending,
			count(*) FILTER (WHERE status = 'in_progress') AS in_progress,
			count(*) FILTER (WHERE status = 'completed') AS completed
		FROM previous GROUP BY user_id
	) AS removed
	WHERE counts.user_id = removed.user_id;
	RETURN NULL;
END
$$;--> statement-breakpoint
-- A trigger locks the table against changes until the migration is complete, so that the next statement counts all tasks.
CREATE TRIGGER "task_counts_inserted" AFTER INSERT ON "tasks" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_inserted"();--> statement-breakpoint
CREATE TRIGGER "task_counts_updated" AFTER UPDATE ON "tasks" REFERENCING OLD TABLE AS previous NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_updated"();--> statement-breakpoint
CREATE TRIGGER "task_counts_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS previous
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_deleted"();--> statement-breakpoint
INSERT INTO "task_counts"
	SELECT "user_id", count(*) FILTER (WHERE "status" = 'pending'), count(*) FILTER (WHERE "status" = 'in_progress'),
		count(*) FILTER (WHERE "status" = 'completed')
	FROM "tasks" GROUP BY "user_id";--> statement-breakpoint
ALTER TABLE "note_shares" ADD COLUMN "note_created_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
-- A trigger sets the column, because an earlier release that still runs does not know the column.
CREATE FUNCTION "note_shares_set_note_created_at"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	SELECT created_at INTO new.note_created_at FROM notes WHERE id = new.note_id;
	RETURN new;
END
$$;--> statement-breakpoint
CREATE TRIGGER "note_shares_set_note_created_at" BEFORE INSERT ON "note_shares"
	FOR EACH ROW EXECUTE FUNCTION "note_shares_set_note_created_at"();--> statement-breakpoint
UPDATE "note_shares" SET "note_created_at" = "notes"."created_at" FROM "notes" WHERE "notes"."id" = "note_shares"."note_id";--> statement-breakpoint
DROP INDEX "note_shares_email_index";--> statement-breakpoint
CREATE INDEX "note_shares_email_note_created_at_note_id_index" ON "note_shares" USING btree ("email","note_created_at","note_id");
