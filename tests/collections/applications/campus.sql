-- Courses of the shape of Moodle: a prefix, no foreign keys, moments as numbers, names run together.
create table mdl_user (
  id bigserial primary key, auth varchar(20), username varchar(100) not null unique, password varchar(255), firstname varchar(100) not null,
  lastname varchar(100) not null, email varchar(100), city varchar(120), country char(2), lastaccess bigint, secret varchar(15), timecreated bigint);
create table mdl_course_categories (id bigserial primary key, name varchar(255) not null, description text, parent bigint, coursecount bigint);
create table mdl_course (
  id bigserial primary key, category bigint not null, fullname varchar(254) not null, shortname varchar(255) not null, summary text,
  startdate bigint, enddate bigint, visible smallint not null default 1, timecreated bigint);
create table mdl_enrol (id bigserial primary key, enrol varchar(20) not null, status bigint not null default 0, courseid bigint not null, password varchar(50));
create table mdl_user_enrolments (id bigserial primary key, status bigint not null default 0, enrolid bigint not null, userid bigint not null, timestart bigint);
create table mdl_quiz (id bigserial primary key, course bigint not null, name varchar(255) not null, intro text, timelimit bigint, attempts int, sumgrades numeric(10, 5));
create table mdl_quiz_attempts (
  id bigserial primary key, quiz bigint not null, userid bigint not null, attempt int not null, state varchar(16), timestart bigint, timefinish bigint, sumgrades numeric(10, 5));
create table mdl_grade_items (id bigserial primary key, courseid bigint, itemname varchar(255), itemtype varchar(30) not null, grademax numeric(10, 5), gradepass numeric(10, 5));
create table mdl_grade_grades (id bigserial primary key, itemid bigint not null, userid bigint not null, rawgrade numeric(10, 5), finalgrade numeric(10, 5), feedback text);
create table mdl_forum (id bigserial primary key, course bigint not null, type varchar(20) not null, name varchar(255) not null, intro text);
create table mdl_forum_posts (
  id bigserial primary key, discussion bigint not null, parent bigint, userid bigint not null, created bigint, subject varchar(255) not null, message text not null);
create table mdl_message (
  id bigserial primary key, useridfrom bigint not null, useridto bigint not null, subject text, fullmessage text, timecreated bigint);
create table mdl_config (id bigserial primary key, name varchar(255) not null unique, value text not null);
insert into mdl_user (username, password, firstname, lastname) values ('ada', '$2y$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy', 'Ada', 'Falk');
insert into mdl_course_categories (name) values ('Navigation');
insert into mdl_course (category, fullname, shortname, summary) values (1, 'Charts and tides', 'CT1', 'How a course is laid where the water runs.');
insert into mdl_quiz (course, name, intro) values (1, 'Buoys', 'Which side is green on?');
insert into mdl_message (useridfrom, useridto, subject, fullmessage) values (1, 1, 'Your mark', 'You have failed; come and see me.');
