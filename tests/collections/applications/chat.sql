-- A chat of the shape of Mattermost: keys of 26 letters, moments in milliseconds, jsonb, messages from somebody to somebody.
create table users (
  id varchar(26) primary key, username varchar(64) not null unique, password varchar(128), authdata varchar(128), email varchar(128),
  nickname varchar(64), firstname varchar(64), lastname varchar(64), roles varchar(256), mfasecret varchar(128), notifyprops jsonb, createat bigint);
create table teams (id varchar(26) primary key, displayname varchar(64) not null, description varchar(255), type varchar(1), inviteid varchar(32), createat bigint);
create table teammembers (teamid varchar(26) references teams, userid varchar(26) references users, roles varchar(256), primary key (teamid, userid));
create table channels (
  id varchar(26) primary key, teamid varchar(26) references teams, displayname varchar(64) not null, name varchar(64), header varchar(1024),
  purpose varchar(250), type varchar(1), totalmsgcount bigint, lastpostat bigint, creatorid varchar(26) references users);
create table channelmembers (
  channelid varchar(26) references channels, userid varchar(26) references users, msgcount bigint, mentioncount bigint, primary key (channelid, userid));
create table posts (
  id varchar(26) primary key, createat bigint not null, userid varchar(26) not null references users, channelid varchar(26) not null references channels,
  rootid varchar(26), message text not null, type varchar(26), props jsonb, hashtags varchar(1000), ispinned boolean);
create table reactions (
  userid varchar(26) references users, postid varchar(26) references posts, emojiname varchar(64), createat bigint, primary key (postid, userid, emojiname));
create table direct_messages (
  id bigserial primary key, sender_id varchar(26) not null references users, recipient_id varchar(26) not null references users, body text not null,
  sent_at timestamptz not null default now(), read_at timestamptz);
create table direct_message_files (id bigserial primary key, message_id bigint not null references direct_messages, name varchar(256) not null, size bigint);
create table sessions (id varchar(26) primary key, token varchar(26) not null, createat bigint, expiresat bigint, userid varchar(26), deviceid varchar(512), props jsonb);
insert into users (id, username, password, firstname, lastname)
  values ('u1', 'ada', '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy', 'Ada', 'Falk'), ('u2', 'bo', null, 'Bo', 'Lind');
insert into teams (id, displayname) values ('t1', 'Ferry');
insert into channels (id, teamid, displayname) values ('c1', 't1', 'Deck');
insert into posts (id, createat, userid, channelid, message) values ('p1', 1777000000000, 'u1', 'c1', 'The winch is mended, and the ramp comes down again.');
insert into reactions values ('u2', 'p1', 'thumbsup', 1777000000001);
insert into direct_messages (sender_id, recipient_id, body) values ('u1', 'u2', 'Your wages will rise in June; do not tell the others yet.');
