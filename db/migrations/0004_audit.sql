CREATE TABLE "audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"action" text NOT NULL,
	"outcome" text NOT NULL,
	"actor" text,
	"subject" text,
	"ip_address" text,
	"user_agent" text,
	"detail" text
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "administrator_session_id" text;--> statement-breakpoint
CREATE INDEX "audit_created_at_id_index" ON "audit" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "audit_actor_created_at_id_index" ON "audit" USING btree ("actor","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_subject_created_at_id_index" ON "audit" USING btree ("subject","created_at","id");--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_administrator_session_id_sessions_id_fk" FOREIGN KEY ("administrator_session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sessions_administrator_session_id_index" ON "sessions" USING btree ("administrator_session_id") WHERE "sessions"."administrator_session_id" is not null;--> statement-breakpoint
DELETE FROM "sessions" WHERE "impersonated_by" IS NOT NULL;--> statement-breakpoint
CREATE FUNCTION "audit_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	-- Retention.
	IF TG_OP = 'DELETE' THEN
		IF OLD.created_at < now() - interval '30 days' THEN
			RETURN OLD;
		END IF;
	-- A pseudonym for a deleted person, once. The address and browser of what the person did may go with it.
	ELSIF TG_OP = 'UPDATE' THEN
		IF ROW(NEW.id, NEW.created_at, NEW.action, NEW.outcome, NEW.detail)
			IS NOT DISTINCT FROM ROW(OLD.id, OLD.created_at, OLD.action, OLD.outcome, OLD.detail)
			AND (NEW.actor IS NOT DISTINCT FROM OLD.actor
				OR (NEW.actor LIKE 'deleted:%' AND OLD.actor NOT LIKE 'deleted:%'))
			AND (NEW.subject IS NOT DISTINCT FROM OLD.subject
				OR (NEW.subject LIKE 'deleted:%' AND OLD.subject NOT LIKE 'deleted:%'))
			AND (ROW(NEW.ip_address, NEW.user_agent) IS NOT DISTINCT FROM ROW(OLD.ip_address, OLD.user_agent)
				OR (NEW.ip_address IS NULL AND NEW.user_agent IS NULL AND NEW.actor LIKE 'deleted:%'))
		THEN
			RETURN NEW;
		END IF;
	END IF;
	RAISE EXCEPTION 'The audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;--> statement-breakpoint
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE ON "audit"
	FOR EACH ROW EXECUTE FUNCTION "audit_append_only"();--> statement-breakpoint
CREATE TRIGGER "audit_append_only_whole" BEFORE TRUNCATE ON "audit"
	FOR EACH STATEMENT EXECUTE FUNCTION "audit_append_only"();
