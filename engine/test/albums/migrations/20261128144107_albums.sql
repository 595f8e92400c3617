CREATE TABLE "albums" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "albums_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"uuid" uuid NOT NULL,
	"user_id" text NOT NULL,
	"title" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"sharing" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "albums_uuid_unique" UNIQUE("uuid")
);
--> statement-breakpoint
CREATE TABLE "guests" (
	"album_id" bigint NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"album_created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "guests_album_id_email_pk" PRIMARY KEY("album_id","email")
);
--> statement-breakpoint
CREATE TABLE "photos" (
	"id" uuid PRIMARY KEY NOT NULL,
	"album_id" uuid NOT NULL,
	"title" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "albums" ADD CONSTRAINT "albums_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "guests" ADD CONSTRAINT "guests_album_id_albums_id_fk" FOREIGN KEY ("album_id") REFERENCES "public"."albums"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "photos" ADD CONSTRAINT "photos_album_id_albums_uuid_fk" FOREIGN KEY ("album_id") REFERENCES "public"."albums"("uuid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "albums_user_id_created_at_id_index" ON "albums" USING btree ("user_id","created_at","id");--> statement-breakpoint
CREATE INDEX "guests_email_album_created_at_album_id_index" ON "guests" USING btree ("email","album_created_at","album_id");--> statement-breakpoint
CREATE INDEX "photos_album_id_created_at_id_index" ON "photos" USING btree ("album_id","created_at","id");--> statement-breakpoint
CREATE FUNCTION "guests_set_album_created_at"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	SELECT created_at INTO new.album_created_at FROM albums WHERE id = new.album_id;
	RETURN new;
END
$$;--> statement-breakpoint
CREATE TRIGGER "guests_set_album_created_at" BEFORE INSERT ON "guests"
	FOR EACH ROW EXECUTE FUNCTION "guests_set_album_created_at"();
