-- A tracker of the shape of Redmine, on Rails: plural names, foreign keys by name alone, references to anything.
create table users (
  id serial primary key, login varchar not null, hashed_password varchar(40) not null, firstname varchar(30) not null, lastname varchar not null,
  admin boolean not null default false, status int not null default 1, last_login_on timestamp, language varchar(5), salt varchar(64),
  twofa_totp_key varchar, created_on timestamp, updated_on timestamp);
create table projects (
  id serial primary key, name varchar not null, description text, homepage varchar, is_public boolean not null default true, parent_id int,
  identifier varchar, status int not null default 1, lft int, rgt int, created_on timestamp, updated_on timestamp);
create table trackers (id serial primary key, name varchar(30) not null, description varchar, position int, default_status_id int);
create table issue_statuses (id serial primary key, name varchar(30) not null, is_closed boolean not null default false, position int);
create table enumerations (id serial primary key, name varchar(30) not null, position int, is_default boolean, type varchar, active boolean not null default true);
create table issue_categories (id serial primary key, project_id int not null, name varchar(60) not null, assigned_to_id int);
create table versions (
  id serial primary key, project_id int not null, name varchar not null, description varchar, effective_date date, status varchar default 'open',
  created_on timestamp, updated_on timestamp);
create table issues (
  id serial primary key, tracker_id int not null, project_id int not null, subject varchar not null, description text, due_date date,
  category_id int, status_id int not null, assigned_to_id int, priority_id int not null, fixed_version_id int, author_id int not null,
  lock_version int not null default 0, created_on timestamp, updated_on timestamp, start_date date, done_ratio int not null default 0,
  estimated_hours float, parent_id int, is_private boolean not null default false, closed_on timestamp);
create table issue_relations (id serial primary key, issue_from_id int not null, issue_to_id int not null, relation_type varchar not null, delay int);
create table journals (
  id serial primary key, journalized_id int not null, journalized_type varchar(30) not null, user_id int not null, notes text, created_on timestamp not null,
  private_notes boolean not null default false);
create table journal_details (id serial primary key, journal_id int not null, property varchar(30) not null, prop_key varchar(30) not null, old_value text, value text);
create table time_entries (
  id serial primary key, project_id int not null, user_id int not null, issue_id int, hours float not null, comments varchar(1024),
  activity_id int not null, spent_on date not null, tyear int, tmonth int, tweek int, created_on timestamp);
create table roles (id serial primary key, name varchar not null, position int, assignable boolean default true, builtin int not null default 0, permissions text);
create table members (id serial primary key, user_id int not null, project_id int not null, created_on timestamp, mail_notification boolean);
create table member_roles (id serial primary key, member_id int not null, role_id int not null, inherited_from int);
create table watchers (id serial primary key, watchable_type varchar not null, watchable_id int not null, user_id int);
create table wikis (id serial primary key, project_id int not null, start_page varchar not null, status int not null default 1);
create table wiki_pages (id serial primary key, wiki_id int not null, title varchar not null, created_on timestamp not null, protected boolean, parent_id int);
create table wiki_contents (id serial primary key, page_id int not null, author_id int, text text, comments varchar, updated_on timestamp, version int not null);
create table attachments (
  id serial primary key, container_id int, container_type varchar(30), filename varchar not null, disk_filename varchar, filesize bigint not null,
  content_type varchar, digest varchar(64), downloads int not null default 0, author_id int not null, created_on timestamp, description varchar);
create table custom_fields (id serial primary key, type varchar(30) not null, name varchar(30) not null, field_format varchar(30), is_required boolean);
create table custom_values (id serial primary key, customized_type varchar(30) not null, customized_id int not null, custom_field_id int not null, value text);
create table settings (id serial primary key, name varchar not null, value text, updated_on timestamp);
create table tokens (id serial primary key, user_id int not null, action varchar(30) not null, value varchar(40) not null unique, created_on timestamp);
create table schema_migrations (version varchar primary key);
insert into users (login, hashed_password, firstname, lastname) values ('ada', 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3', 'Ada', 'Falk'), ('bo', '0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33', 'Bo', 'Lind');
insert into projects (name, description) values ('Boathouse', 'What is to be mended in the boathouse by the lake.');
insert into trackers (name) values ('Bug'), ('Feature');
insert into issue_statuses (name, is_closed) values ('New', false), ('Closed', true);
insert into enumerations (name, type) values ('Low', 'IssuePriority'), ('High', 'IssuePriority');
insert into issues (tracker_id, project_id, subject, description, status_id, priority_id, author_id, estimated_hours)
  values (1, 1, 'The slip leaks', 'Water comes in at the third plank when it blows from the west.', 1, 2, 1, 4),
    (2, 1, 'A rack for oars', 'They lie on the floor, and people stumble over them.', 2, 1, 2, 2.5);
insert into time_entries (project_id, user_id, issue_id, hours, activity_id, spent_on) values (1, 2, 2, 3, 1, '2026-05-04');
insert into tokens (user_id, action, value) values (1, 'api', '8b1a9953c4611296a827abf8c47804d7');
