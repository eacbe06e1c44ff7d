-- Applications' own tables with secrets of every kind, some known by their names, some by what they hold, some by their tables.
create table members (
  id bigint generated always as identity primary key, display_name text not null, about text, "pass_crypt" text, pass_salt text,
  user_pass text, user_activation_key text, pass text, user_actkey text, rands text, loginkey text, validation_code text, pw text,
  hashed_pw text, drivers_license text, clave text, security_answer text, magic_link text, pin integer, token_count integer,
  tokens_used bigint, total_replies integer, password_changed_at timestamptz, homepage_url text, city text);
create table mail_servers (
  id int primary key, name text not null, notes text, smtp_pass text, db_pass text, dsn text, connection_string text, privkey text,
  ssh_key text, bearer text, login_code text, auth_code text, webhook_url text, settings jsonb, request_headers json);
create table letters (
  code text primary key, ticket_number text not null, subject text not null, body text, x1 text, x2 text, x3 text, x4 text, x5 text,
  x6 text, extra jsonb, details jsonb, commit_sha text, signature text, sku text, isbn text, keyword text, passage text);
create table invites (id int primary key, invited text not null, remark text, code text, url text);
create table sessions (id text primary key, user_agent text, payload text);
create table lessons_sessions (id int primary key, title text not null, session_data text, starts_on date);
create table site_options (id int primary key, option_name text not null, option_value text);
create table odd_notes (id int primary key, note text not null, "pass{word}" text);

insert into members (display_name, about, pass_crypt, pass_salt, user_pass, user_activation_key, pass, user_actkey, rands, loginkey,
  validation_code, pw, hashed_pw, drivers_license, clave, security_answer, magic_link, pin, token_count, tokens_used, total_replies,
  homepage_url, city)
select 'Member ' || n, 'Tends hedge number ' || n || ' and writes about what grows in it.', 'zqsecreta' || n, 'zqsecretb' || n,
  'zqsecretc' || n, 'zqsecretd' || n, 'zqsecrete' || n, 'zqsecretf' || n, 'zqsecretg' || n, 'zqsecreth' || n, 'zqsecreti' || n,
  'zqsecretj' || n, 'zqsecretk' || n, 'zqsecretl' || n, 'zqsecretm' || n, 'zqsecretn' || n, 'https://x.example/zqsecreto' || n,
  770000 + n, n, n * 7, n * 3, 'https://hedges.example/' || n, (array['Bristol', 'Bath', 'Wells'])[1 + n % 3]
from generate_series(1, 60) n;
insert into mail_servers
select n, 'Server ' || n, 'Kept in room ' || n || ' beside the others, and restarted on Sundays.', 'zqsecrete' || n, 'zqsecretf' || n,
  'postgres://app:zqsecretg' || n || '@db/app', 'Server=db;User Id=app;Password=zqsecreth' || n, 'zqsecreti' || n, 'zqsecretj' || n,
  'zqsecretk' || n, 'zqsecretl' || n, 'zqsecretm' || n, 'https://hooks.example/zqsecretn' || n,
  jsonb_build_object('region', 'eu', 'smtp_password', 'zqsecreto' || n), '{"authorization": "zqsecretp"}'
from generate_series(1, 60) n;
insert into letters
select 'LT-' || n, 'TCK-' || lpad(n::text, 6, '0'), 'Letter ' || n, 'A letter about the hedge that stands at the end of the lane.',
  '$2b$12$zqsecretq' || md5(n::text), translate(substr(encode(sha256(n::text::bytea), 'base64'), 1, 40), '+/', 'xy'),
  md5(n::text || 'x3'), 'https://files.example/report?X-Amz-Signature=zqsecretr' || md5(n::text),
  'postgres://app:zqsecrets' || n || '@db/app',
  (array['4111111111111111', '5555555555554444', '4012888888881881', '378282246310005'])[1 + n % 4],
  jsonb_build_object('kind', 'letter', 'api_key', 'zqsecrett' || n), jsonb_build_object('paper', 'laid', 'pages', n), md5('c' || n),
  'With kind regards from all of us', 'SKU-' || n % 9, '978-3-16-148410-' || n % 10, (array['hedge', 'lane'])[1 + n % 2], 'Passage ' || n
from generate_series(1, 60) n;
insert into invites select n, 'Guest ' || n, 'Met at the fair in the village, asked to come along.', 'zqsecretu' || n,
  'https://x.example/join/zqsecretv' || n from generate_series(1, 60) n;
insert into sessions select 'zqsecretw' || n, 'Browser', 'zqsecretx' || n from generate_series(1, 60) n;
insert into lessons_sessions select n, 'Lesson ' || n, 'zqsecrety' || n, '2026-01-01' from generate_series(1, 60) n;
insert into site_options select n, 'Option ' || n, 'zqsecretz' || n from generate_series(1, 60) n;
insert into odd_notes values (1, 'Its secret cannot be named.', 'zqsecret0');
