-- A database of the last commit without engine/db/migrations: its migrations, and one row in most tables.

CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE "rate_limits" (
	"id" text PRIMARY KEY NOT NULL,
	"key" text NOT NULL,
	"count" integer NOT NULL,
	"last_request" bigint NOT NULL,
	CONSTRAINT "rate_limits_key_unique" UNIQUE("key")
);


CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"role" text,
	"banned" boolean,
	"ban_reason" text,
	"ban_expires" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);


CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"user_id" text NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"impersonated_by" text,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);


CREATE TABLE "counter" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"count" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "counter_single" CHECK ("counter"."id" = 1)
);


CREATE TABLE "tasks" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" text NOT NULL,
	"title" text NOT NULL,
	"description" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE "notes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "notes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"uuid" uuid NOT NULL,
	"user_id" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "notes_uuid_unique" UNIQUE("uuid")
);


CREATE TABLE "note_shares" (
	"note_id" bigint NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "note_shares_note_id_email_pk" PRIMARY KEY("note_id","email")
);


ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

ALTER TABLE "tasks" ADD CONSTRAINT "tasks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

ALTER TABLE "notes" ADD CONSTRAINT "notes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

ALTER TABLE "note_shares" ADD CONSTRAINT "note_shares_note_id_notes_id_fk" FOREIGN KEY ("note_id") REFERENCES "public"."notes"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "accounts_user_id_index" ON "accounts" USING btree ("user_id");

CREATE INDEX "verifications_identifier_index" ON "verifications" USING btree ("identifier");

CREATE INDEX "sessions_user_id_index" ON "sessions" USING btree ("user_id");

CREATE INDEX "tasks_user_id_created_at_id_index" ON "tasks" USING btree ("user_id","created_at","id");

CREATE INDEX "notes_user_id_created_at_id_index" ON "notes" USING btree ("user_id","created_at","id");

CREATE INDEX "note_shares_email_index" ON "note_shares" USING btree ("email");

INSERT INTO "counter" DEFAULT VALUES;
CREATE TABLE "oauth_clients" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"redirect_uris" text[] NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE "oauth_records" (
	"key" text PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone
);


ALTER TABLE "sessions" ADD COLUMN "client_id" text;

ALTER TABLE "sessions" ADD COLUMN "scope" text;
CREATE TABLE "limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp with time zone
);


CREATE INDEX "limits_expire_index" ON "limits" USING btree ("expire");
CREATE TABLE "idempotency" (
	"user_id" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"answer" json NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_user_id_key_pk" PRIMARY KEY("user_id","key")
);


ALTER TABLE "accounts" ALTER COLUMN "access_token_expires_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "accounts" ALTER COLUMN "refresh_token_expires_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "accounts" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "accounts" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "accounts" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "accounts" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "users" ALTER COLUMN "ban_expires" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "users" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "users" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "users" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "users" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "verifications" ALTER COLUMN "expires_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "verifications" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "verifications" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "verifications" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "verifications" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "limits" ALTER COLUMN "expire" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "notes" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "notes" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "notes" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "notes" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "note_shares" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "note_shares" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "note_shares" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "note_shares" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "oauth_clients" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "oauth_clients" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "oauth_records" ALTER COLUMN "used_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "oauth_records" ALTER COLUMN "expires_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "sessions" ALTER COLUMN "expires_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "sessions" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "sessions" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "sessions" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "sessions" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "tasks" ALTER COLUMN "created_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "tasks" ALTER COLUMN "created_at" SET DEFAULT now();

ALTER TABLE "tasks" ALTER COLUMN "updated_at" SET DATA TYPE timestamp (3) with time zone;

ALTER TABLE "tasks" ALTER COLUMN "updated_at" SET DEFAULT now();

ALTER TABLE "notes" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;

ALTER TABLE "notes" ADD COLUMN "sharing" integer DEFAULT 0 NOT NULL;

ALTER TABLE "tasks" ADD COLUMN "version" integer DEFAULT 1 NOT NULL;

ALTER TABLE "idempotency" ADD CONSTRAINT "idempotency_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "idempotency_expires_at_index" ON "idempotency" USING btree ("expires_at");

CREATE INDEX "oauth_records_subject_index" ON "oauth_records" USING btree (("value" ->> 'subject'));
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


ALTER TABLE "sessions" ADD COLUMN "administrator_session_id" text;

CREATE INDEX "audit_created_at_id_index" ON "audit" USING btree ("created_at","id");

CREATE INDEX "audit_actor_created_at_id_index" ON "audit" USING btree ("actor","created_at","id");

CREATE INDEX "audit_subject_created_at_id_index" ON "audit" USING btree ("subject","created_at","id");

ALTER TABLE "sessions" ADD CONSTRAINT "sessions_administrator_session_id_sessions_id_fk" FOREIGN KEY ("administrator_session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "sessions_administrator_session_id_index" ON "sessions" USING btree ("administrator_session_id") WHERE "sessions"."administrator_session_id" is not null;

DELETE FROM "sessions" WHERE "impersonated_by" IS NOT NULL;

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
$$;

CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE ON "audit"
	FOR EACH ROW EXECUTE FUNCTION "audit_append_only"();

CREATE TRIGGER "audit_append_only_whole" BEFORE TRUNCATE ON "audit"
	FOR EACH STATEMENT EXECUTE FUNCTION "audit_append_only"();
-- Notifies the processes of changes that concern access: sessions, roles, bans and shares. The notification belongs to
-- the transaction of the change, so that it cannot be lost. Payload: see db/notifications.ts. pg_restore and logical
-- replication set an empty search_path, so each function has the search_path of this migration.
CREATE FUNCTION "live_notify"(changed text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	IF cardinality(changed) > 100 THEN
		PERFORM pg_notify('tallystick', 'database all');
	ELSIF cardinality(changed) > 0 THEN
		PERFORM pg_notify('tallystick', 'database ' || array_to_string(changed, ' '));
	END IF;
END
$$;

CREATE FUNCTION "live_sessions_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(SELECT DISTINCT 'sessions:' || user_id FROM changed));
	RETURN NULL;
END
$$;

CREATE FUNCTION "live_users_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(
		SELECT 'sessions:' || after.id FROM changed AS after JOIN previous AS before ON before.id = after.id
		WHERE ROW(after.role, after.banned, after.ban_expires) IS DISTINCT FROM ROW(before.role, before.banned, before.ban_expires)
	));
	RETURN NULL;
END
$$;

CREATE FUNCTION "live_shares_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(
		SELECT DISTINCT 'notes:' || users.id FROM changed JOIN users ON users.email = changed.email
		UNION
		SELECT 'notes:' || notes.user_id FROM changed JOIN notes ON notes.id = changed.note_id
	));
	RETURN NULL;
END
$$;

CREATE TRIGGER "live_sessions_inserted" AFTER INSERT ON "sessions" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_sessions_changed"();

CREATE TRIGGER "live_sessions_deleted" AFTER DELETE ON "sessions" REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_sessions_changed"();

CREATE TRIGGER "live_users_updated" AFTER UPDATE ON "users" REFERENCING OLD TABLE AS previous NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_users_changed"();

CREATE TRIGGER "live_shares_inserted" AFTER INSERT ON "note_shares" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();

CREATE TRIGGER "live_shares_updated" AFTER UPDATE ON "note_shares" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();

CREATE TRIGGER "live_shares_deleted" AFTER DELETE ON "note_shares" REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();
CREATE TABLE "task_counts" (
	"user_id" text PRIMARY KEY NOT NULL,
	"pending" bigint NOT NULL,
	"in_progress" bigint NOT NULL,
	"completed" bigint NOT NULL
);


ALTER TABLE "task_counts" ADD CONSTRAINT "task_counts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "tasks_user_id_status_created_at_id_index" ON "tasks" USING btree ("user_id","status","created_at","id");

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
$$;

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
$$;

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
$$;

-- A trigger locks the table against changes until the migration is complete, so that the next statement counts all tasks.
CREATE TRIGGER "task_counts_inserted" AFTER INSERT ON "tasks" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_inserted"();

CREATE TRIGGER "task_counts_updated" AFTER UPDATE ON "tasks" REFERENCING OLD TABLE AS previous NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_updated"();

CREATE TRIGGER "task_counts_deleted" AFTER DELETE ON "tasks" REFERENCING OLD TABLE AS previous
	FOR EACH STATEMENT EXECUTE FUNCTION "task_counts_deleted"();

INSERT INTO "task_counts"
	SELECT "user_id", count(*) FILTER (WHERE "status" = 'pending'), count(*) FILTER (WHERE "status" = 'in_progress'),
		count(*) FILTER (WHERE "status" = 'completed')
	FROM "tasks" GROUP BY "user_id";

ALTER TABLE "note_shares" ADD COLUMN "note_created_at" timestamp (3) with time zone DEFAULT now() NOT NULL;

-- A trigger sets the column, because an earlier release that still runs does not know the column.
CREATE FUNCTION "note_shares_set_note_created_at"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	SELECT created_at INTO new.note_created_at FROM notes WHERE id = new.note_id;
	RETURN new;
END
$$;

CREATE TRIGGER "note_shares_set_note_created_at" BEFORE INSERT ON "note_shares"
	FOR EACH ROW EXECUTE FUNCTION "note_shares_set_note_created_at"();

UPDATE "note_shares" SET "note_created_at" = "notes"."created_at" FROM "notes" WHERE "notes"."id" = "note_shares"."note_id";

DROP INDEX "note_shares_email_index";

CREATE INDEX "note_shares_email_note_created_at_note_id_index" ON "note_shares" USING btree ("email","note_created_at","note_id");
-- Sends more than 100 keys in several payloads. Before, a change of more than 100 keys was announced
-- as a change of everything, and every stream of every process read its states again.
CREATE OR REPLACE FUNCTION "live_notify"(changed text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
	start integer;
BEGIN
	FOR start IN SELECT generate_series(1, cardinality(changed), 100) LOOP
		PERFORM pg_notify('tallystick', 'database ' || array_to_string(changed[start:start + 99], ' '));
	END LOOP;
END
$$;
CREATE INDEX "note_shares_note_id_created_at_email_index" ON "note_shares" USING btree ("note_id","created_at","email");
CREATE TABLE "device_codes" (
	"digest" text PRIMARY KEY NOT NULL,
	"user_code" text NOT NULL,
	"client_id" text NOT NULL,
	"scope" text NOT NULL,
	"resource" text NOT NULL,
	"grant_id" text,
	"is_denied" boolean DEFAULT false NOT NULL,
	"interval" integer NOT NULL,
	"polled_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "device_codes_userCode_unique" UNIQUE("user_code")
);


ALTER TABLE "oauth_clients" ADD COLUMN "uses_device_flow" boolean DEFAULT false NOT NULL;

ALTER TABLE "device_codes" ADD CONSTRAINT "device_codes_grant_id_sessions_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;

CREATE INDEX "device_codes_expires_at_index" ON "device_codes" USING btree ("expires_at");

CREATE INDEX "device_codes_grant_id_index" ON "device_codes" USING btree ("grant_id");
create schema drizzle;
create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
insert into drizzle.__drizzle_migrations (hash, created_at) values ('2c948c50577f379cff8f345d11d05eb14739b431e4524d025a872c1e92f0183a', 1795248512491), ('6af06e6e0d1e7a5ba0d4c2914a804e87099428d5ab646fbaf855df5f2d341073', 1795253966272), ('6ee2af3cb8af446bf833cc82bcc3dc60982cce7483df68029b6f9e76216cd369', 1795266856009), ('65c1cc6c44ddafec6c333eb6c672208137bfde12f4735afedbac5c440ce38816', 1795275117558), ('c84bb4342c3e2e2b9cb88456ae5af791a845f7055f8e72735a2a25afacca030c', 1795336078043), ('259f8356a60dacc236978ed2385472697f58bb50f619c9867f58dfae61e27363', 1795377482797), ('555ea31034278de7b92db0fe87031723c66bfba4fec8ba8d533fa207dfd5d617', 1795413049025), ('b3588647ae39ce2781947252183e9b283dc1ad24b5b1881566914564886922c3', 1795599739733), ('203049b92fee9415a20cc59a4d695f12224c49119a440cfc5479f691d999d1b0', 1795619761379), ('3f956047626f8c5c8f717d4682b55bc4e4778a2c39dd1b749dcec49be5013d48', 1795654278387);
insert into users (id, name, email) values ('ada', 'Ada', 'ada@example.com'), ('bob', 'Bob', 'bob@example.com');
insert into sessions (id, token, user_id, expires_at) values ('s1', 'token', 'ada', '2099-01-01');
insert into oauth_clients (id, name, redirect_uris) values ('app', 'An app', '{https://app.example/}');
insert into audit (action, outcome, subject) values ('sign-in', 'accepted', 'ada');
update counter set count = 41;
insert into tasks (user_id, title, status) values ('ada', 'First', 'pending'), ('ada', 'Second', 'completed');
insert into notes (uuid, user_id, title, body) values ('0198c0de-0000-7000-8000-000000000001', 'ada', 'Plan', 'Text');
insert into note_shares (note_id, email, role) select id, 'bob@example.com', 'reader' from notes;
