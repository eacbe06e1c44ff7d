-- Names that are words of SQL, hold quotes, dots, braces, line ends, other scripts, or are alike but for their case.
create table "select" ("from" int primary key, "order" text not null, "group" text, "limit" int, "type" text, "q" boolean);
create table "Select" ("ID" int primary key, "Title" text, "title" text, "Body Text" text);
create table "a.b""c" ("x.y" int primary key, "na""me" text, "it's" text, "back\slash" text);
create table "line
end" (id int primary key, "name
of it" text, "{braces}" text, " spaced " text, body text);
create table "大きな表" ("番号" int primary key, "題名" text, "本文" text);
create table "Größe" ("Schlüssel" int primary key, "Bezeichnung" text, "Kontraseña" text, "contraseña" text);
create table "1st" (id int primary key, "2nd title" text);
create table "{only}" ("{id}" int primary key, "text" text);
create table "# not a comment" (id int primary key, "[table]" text, "= x" text);
create type "My State" as enum ('new', 'old');
create table coloured (id int primary key, title text, "My State" "My State", "states" "My State"[]);
create table a234567890123456789012345678901234567890123456789012345678901 (
  id int primary key, b23456789012345678901234567890123456789012345678901234567890 text, body text);
