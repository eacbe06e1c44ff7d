-- A shop of the shape of Spree and Django's: tenants, lines of orders, prices in several tables, join tables, codes.
create table stores (id serial primary key, name varchar not null, code varchar not null unique, default_currency char(3), url varchar);
create table countries (iso char(2) primary key, name varchar not null, numcode int, states_required boolean default false);
create table states (id serial primary key, name varchar not null, abbr varchar(5), country_iso char(2) references countries);
create table addresses (
  id serial primary key, firstname varchar, lastname varchar, address1 varchar, city varchar, zipcode varchar, phone varchar,
  state_id int references states, country_iso char(2) references countries);
create table customers (
  id serial primary key, email varchar not null, encrypted_password varchar, reset_password_token varchar, bill_address_id int references addresses,
  ship_address_id int references addresses, sign_in_count int not null default 0, created_at timestamp not null default now());
create table taxons (id serial primary key, name varchar not null, permalink varchar, parent_id int references taxons, position int);
create table products (
  id serial primary key, name varchar not null, description text, slug varchar, available_on date, discontinue_on date, meta_title varchar,
  promotionable boolean default true, created_at timestamp, updated_at timestamp);
create table products_taxons (product_id int references products, taxon_id int references taxons, position int);
create table variants (
  id serial primary key, sku varchar not null unique, weight numeric(8, 2), height numeric(8, 2), product_id int not null references products,
  cost_price numeric(10, 2), is_master boolean not null default false);
create table prices (id serial primary key, variant_id int not null references variants, amount numeric(10, 2), currency char(3));
create table stock_locations (id serial primary key, name varchar not null, city varchar, active boolean default true);
create table stock_items (
  stock_location_id int references stock_locations, variant_id int references variants, count_on_hand int not null, backorderable boolean,
  primary key (stock_location_id, variant_id));
create table stock_movements (
  id serial primary key, stock_location_id int, variant_id int, quantity int not null, action varchar, created_at timestamp,
  foreign key (stock_location_id, variant_id) references stock_items);
create table orders (
  id serial primary key, number varchar(32) not null unique, item_total numeric(10, 2) not null, total numeric(10, 2) not null, state varchar,
  customer_id int references customers, completed_at timestamp, bill_address_id int references addresses, ship_address_id int references addresses,
  payment_state varchar, shipment_state varchar, special_instructions text, currency char(3), created_at timestamp, store_id int references stores);
create table line_items (
  id serial primary key, order_id int not null references orders, variant_id int not null references variants, quantity int not null, price numeric(10, 2) not null);
create table payments (id serial primary key, order_id int references orders, amount numeric(10, 2) not null, state varchar, response_code varchar, created_at timestamp);
create table reviews (
  id serial primary key, product_id int not null references products, name varchar, rating int, title varchar, review text, approved boolean, created_at timestamp);
create table promotions (id serial primary key, description varchar, expires_at timestamp, name varchar not null, code varchar, usage_limit int);
create table gift_cards (id serial primary key, code varchar not null, amount numeric(10, 2), current_value numeric(10, 2), expires_on date);
create table django_migrations (id serial primary key, app varchar, name varchar, applied timestamptz);
insert into countries values ('NO', 'Norway', 578, false), ('SE', 'Sweden', 752, false);
insert into addresses (firstname, lastname, city, country_iso) values ('Ada', 'Falk', 'Bergen', 'NO');
insert into customers (email, bill_address_id) values ('ada@falk.example', 1);
insert into products (name, description) values ('Storm lantern', 'Burns a night on one filling, and does not go out in the wind.');
insert into taxons (name) values ('Light'); insert into products_taxons values (1, 1, 1);
insert into variants (sku, product_id, cost_price) values ('SL-1', 1, 12.5);
insert into stock_locations (name, city) values ('Quay', 'Bergen'); insert into stock_items values (1, 1, 7, true);
insert into stock_movements (stock_location_id, variant_id, quantity) values (1, 1, 7);
insert into orders (number, item_total, total, customer_id, completed_at) values ('R100', 60, 66, 1, '2026-05-04');
insert into line_items (order_id, variant_id, quantity, price) values (1, 1, 2, 30);
insert into payments (order_id, amount, state) values (1, 66, 'completed');
insert into gift_cards (code, amount) values ('K7QX-2M9P-LLT4', 50);
