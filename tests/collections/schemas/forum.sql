-- A forum as an import brought it in: names run together in lower case, keys, and not one foreign key.
create table members (id int primary key, displayname text, joindate date, aboutme text, websiteurl text);
create table threadtypes (id smallint primary key, name text);
create table threads (
  id int primary key, threadtypeid smallint not null, title text, body text, owneruserid int, openingmemberid int,
  lasteditormemberid int, creationdate timestamp, lastactivitydate timestamp, answercount int, passcode text);
create table replies (id int primary key, threadid int not null, memberid int, text text, creationdate timestamp);
create table ballots (id int primary key, replyid int not null, memberid int, castdate timestamp, points int);
create table marks (id int primary key, memberid int not null, name text not null, date date);
insert into members select n, 'Member ' || n, date '2031-01-01' + n, 'Keeps bees.', null from generate_series(1, 12) n;
insert into threadtypes values (1, 'Question'), (2, 'Notice');
insert into threads
select n, 1 + n % 2, case when n % 3 > 0 then 'Swarm ' || n end, 'The hive by the barn swarmed on day ' || n || '.', null, 1 + n % 12, null,
  timestamp '2031-05-01 09:00' + n * interval '1 day', null, n % 4, null
from generate_series(1, 40) n;
insert into replies select n, 1 + n % 40, 1 + n % 12, 'Catch it in a skep, at dusk.', '2031-06-01' from generate_series(1, 60) n;
insert into ballots select n, 1 + n % 60, 1 + n % 12, timestamp '2031-06-02' + n * interval '1 hour', 1 + n % 5 from generate_series(1, 50) n;
insert into marks select n, 1 + n % 12, (array['Keeper', 'Helper'])[1 + n % 2], date '2031-07-01' from generate_series(1, 30) n;
