-- A shop for records, as another tool names tables: capitals and quotes everywhere.
create table "Artist" ("ArtistId" int primary key, "Name" varchar(120));
create table "Album" (
  "AlbumId" int primary key, "Title" varchar(160) not null, "ArtistId" int not null references "Artist" ("ArtistId"));
create table "Genre" ("GenreId" int primary key, "Name" varchar(120));
create table "MediaType" ("MediaTypeId" int primary key, "Name" varchar(120));
create table "Employee" (
  "EmployeeId" int primary key, "LastName" varchar(20) not null, "FirstName" varchar(20) not null, "Title" varchar(30),
  "ReportsTo" int references "Employee" ("EmployeeId"), "BirthDate" timestamp, "HireDate" timestamp, "City" varchar(40),
  "State" varchar(40), "Country" varchar(40), "Phone" varchar(24), "Email" varchar(60));
create table "Customer" (
  "CustomerId" int primary key, "FirstName" varchar(40) not null, "LastName" varchar(20) not null, "Company" varchar(80),
  "Address" varchar(70), "City" varchar(40), "Country" varchar(40), "PostalCode" varchar(10), "Email" varchar(60) not null,
  "SupportRepId" int references "Employee" ("EmployeeId"));
create table "Invoice" (
  "InvoiceId" int primary key, "CustomerId" int not null references "Customer" ("CustomerId"), "InvoiceDate" timestamp not null,
  "BillingAddress" varchar(70), "BillingCity" varchar(40), "BillingCountry" varchar(40), "Total" numeric(10, 2) not null);
create table "Track" (
  "TrackId" int primary key, "Name" varchar(200) not null, "AlbumId" int references "Album" ("AlbumId"),
  "MediaTypeId" int not null references "MediaType" ("MediaTypeId"), "GenreId" int references "Genre" ("GenreId"),
  "Composer" varchar(220), "Milliseconds" int not null, "Bytes" int, "UnitPrice" numeric(10, 2) not null);
create table "InvoiceLine" (
  "InvoiceLineId" int primary key, "InvoiceId" int not null references "Invoice" ("InvoiceId"),
  "TrackId" int not null references "Track" ("TrackId"), "UnitPrice" numeric(10, 2) not null, "Quantity" int not null);
create table "Playlist" ("PlaylistId" int primary key, "Name" varchar(120));
create table "PlaylistTrack" (
  "PlaylistId" int references "Playlist" ("PlaylistId"), "TrackId" int references "Track" ("TrackId"),
  primary key ("PlaylistId", "TrackId"));
