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
--> statement-breakpoint
ALTER TABLE "oauth_clients" ADD COLUMN "uses_device_flow" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "device_codes" ADD CONSTRAINT "device_codes_grant_id_sessions_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_codes_expires_at_index" ON "device_codes" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "device_codes_grant_id_index" ON "device_codes" USING btree ("grant_id");