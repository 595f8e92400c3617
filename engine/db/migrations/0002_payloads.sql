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
