-- A blog of the shape of WordPress: no foreign keys, names with a prefix, tables of keys and values.
create table wp_users (
  "ID" bigserial primary key, user_login varchar(60) not null default '', user_pass varchar(255) not null default '', user_nicename varchar(50),
  user_email varchar(100), user_url varchar(100), user_registered timestamp not null default now(), user_activation_key varchar(255),
  user_status int not null default 0, display_name varchar(250) not null default '');
create table wp_usermeta (umeta_id bigserial primary key, user_id bigint not null, meta_key varchar(255), meta_value text);
create table wp_posts (
  "ID" bigserial primary key, post_author bigint not null default 0, post_date timestamp not null default now(), post_content text not null,
  post_title text not null, post_excerpt text, post_status varchar(20) not null default 'publish', comment_status varchar(20),
  ping_status varchar(20), post_password varchar(255), post_name varchar(200), post_modified timestamp, post_parent bigint not null default 0,
  guid varchar(255), menu_order int not null default 0, post_type varchar(20) not null default 'post', post_mime_type varchar(100),
  comment_count bigint not null default 0);
create table wp_postmeta (meta_id bigserial primary key, post_id bigint not null, meta_key varchar(255), meta_value text);
create table wp_comments (
  "comment_ID" bigserial primary key, "comment_post_ID" bigint not null, comment_author text not null, comment_author_email varchar(100),
  "comment_author_IP" varchar(100), comment_date timestamp not null default now(), comment_content text not null, comment_karma int default 0,
  comment_approved varchar(20) default '1', comment_type varchar(20), comment_parent bigint not null default 0, user_id bigint not null default 0);
create table wp_commentmeta (meta_id bigserial primary key, comment_id bigint not null, meta_key varchar(255), meta_value text);
create table wp_terms (term_id bigserial primary key, name varchar(200) not null, slug varchar(200), term_group bigint not null default 0);
create table wp_termmeta (meta_id bigserial primary key, term_id bigint not null, meta_key varchar(255), meta_value text);
create table wp_term_taxonomy (
  term_taxonomy_id bigserial primary key, term_id bigint not null, taxonomy varchar(32) not null, description text, parent bigint, count bigint not null);
create table wp_term_relationships (
  object_id bigint not null, term_taxonomy_id bigint not null, term_order int not null default 0, primary key (object_id, term_taxonomy_id));
create table wp_options (option_id bigserial primary key, option_name varchar(191) not null unique, option_value text, autoload varchar(20));
create table wp_links (link_id bigserial primary key, link_url varchar(255), link_name varchar(255), link_rating int, link_updated timestamp);
insert into wp_users (user_login, user_pass, display_name) values ('ada', '$P$BxYzAbCdEfGhIjKlMnOpQrStUvWx1/', 'Ada Falk');
insert into wp_posts (post_author, post_title, post_content) values (1, 'The heath in May', 'The gorse flowers, and the larks sing over it.');
insert into wp_terms (name, slug) values ('Walks', 'walks'), ('Birds', 'birds');
insert into wp_term_taxonomy (term_id, taxonomy, count) values (1, 'category', 1), (2, 'post_tag', 1);
insert into wp_term_relationships values (1, 1, 0), (1, 2, 0);
insert into wp_comments ("comment_post_ID", comment_author, comment_content) values (1, 'Bo', 'I was there too.');
insert into wp_options (option_name, option_value) values ('mailserver_pass', 'open sesame'), ('blogname', 'Heath');
