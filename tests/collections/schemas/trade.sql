-- A wholesaler: keys of letters, pictures as bytes, employees who report to employees, lines of orders by composite key.
create table categories (category_id smallint primary key, category_name varchar(15) not null, description text, picture bytea);
create table customers (
  customer_id char(5) primary key, company_name varchar(40) not null, contact_name varchar(30), contact_title varchar(30),
  address varchar(60), city varchar(15), region varchar(15), postal_code varchar(10), country varchar(15), phone varchar(24),
  fax varchar(24));
create table employees (
  employee_id smallint primary key, last_name varchar(20) not null, first_name varchar(10) not null, title varchar(30),
  title_of_courtesy varchar(25), birth_date date, hire_date date, city varchar(15), country varchar(15), extension varchar(4),
  photo bytea, notes text, reports_to smallint references employees, photo_path varchar(255));
create table suppliers (
  supplier_id smallint primary key, company_name varchar(40) not null, contact_name varchar(30), city varchar(15),
  country varchar(15), phone varchar(24), homepage text);
create table products (
  product_id smallint primary key, product_name varchar(40) not null, supplier_id smallint references suppliers,
  category_id smallint references categories, quantity_per_unit varchar(20), unit_price real, units_in_stock smallint,
  discontinued integer not null);
create table shippers (shipper_id smallint primary key, company_name varchar(40) not null, phone varchar(24));
create table region (region_id smallint primary key, region_description varchar(60) not null);
create table territories (
  territory_id varchar(20) primary key, territory_description varchar(60) not null, region_id smallint not null references region);
create table employee_territories (
  employee_id smallint references employees, territory_id varchar(20) references territories,
  primary key (employee_id, territory_id));
create table orders (
  order_id smallint primary key, customer_id char(5) references customers, employee_id smallint references employees,
  order_date date, required_date date, shipped_date date, ship_via smallint references shippers, freight real,
  ship_name varchar(40), ship_address varchar(60), ship_city varchar(15), ship_country varchar(15));
create table order_details (
  order_id smallint references orders, product_id smallint references products, unit_price real not null,
  quantity smallint not null, discount real not null, primary key (order_id, product_id));
