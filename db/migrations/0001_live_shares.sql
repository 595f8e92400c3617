-- Notifies the processes of changed shares, with the function of the engine.
CREATE FUNCTION "live_shares_changed"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	PERFORM live_notify(array(
		SELECT DISTINCT 'notes:' || users.id FROM changed JOIN users ON users.email = changed.email
		UNION
		SELECT 'notes:' || notes.user_id FROM changed JOIN notes ON notes.id = changed.note_id
	));
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "live_shares_inserted" AFTER INSERT ON "note_shares" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();--> statement-breakpoint
CREATE TRIGGER "live_shares_updated" AFTER UPDATE ON "note_shares" REFERENCING NEW TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();--> statement-breakpoint
CREATE TRIGGER "live_shares_deleted" AFTER DELETE ON "note_shares" REFERENCING OLD TABLE AS changed
	FOR EACH STATEMENT EXECUTE FUNCTION "live_shares_changed"();
