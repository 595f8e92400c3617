-- Notifies the processes of changes that concern access: sessions, roles and bans. The notification belongs to
-- the transaction of the change, so that it cannot be lost. Payload: see engine/db/notifications.ts. pg_restore and logical
-- replication set an empty search_path, so each function has the search_path of this migration.
CREATE FUNCTION "live_notify"(changed text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	IF cardinality(changed) > 100 THEN
		PERFORM pg_notify('tallystick', 'database all');
	ELSIF cardinality(changed) > 0 THEN
		PERFORM pg_notify('tallystick', 'database ' || array_to_string(changed, ' '));
	END IF;
END
$$;--> statement-breakpoint
CREATE FUNCTION "live_sessions_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(SELECT DISTINCT 'sessions:' || user_id FROM changed));
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE FUNCTION "live_users_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(
		SELECT 'sessions:' || after.id FROM changed AS after JOIN previous AS before ON before.id = after.id
		WHERE ROW(after.role, after.banned, after.ban_expires) IS DISTINCT FROM ROW(before.role, before.banned, before.ban_expires)
	));
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "live_sessions_inserted" AFTER INSERT ON "sessions" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_sessions_changed"();--> statement-breakpoint
CREATE TRIGGER "live_sessions_deleted" AFTER DELETE ON "sessions" REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_sessions_changed"();--> statement-breakpoint
CREATE TRIGGER "live_users_updated" AFTER UPDATE ON "users" REFERENCING OLD TABLE AS previous NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_users_changed"();
