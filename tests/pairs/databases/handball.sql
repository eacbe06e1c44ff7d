-- A handball league's website. Today is 2026-03-02.
create table clubs (club_id int primary key, name text not null, city text not null, founded int not null, stadium_seats int not null);
create table players (player_id int primary key, name text not null, club_id int references clubs, speciality text not null, born date not null, height_cm int not null, goals int not null, joined_on date not null);
create table matches (
    match_id int primary key, match_code text not null, home_club_id int not null references clubs, away_club_id int not null references clubs,
    played_on date not null, home_goals int not null, away_goals int not null, spectators int not null, status text not null
);
create table transfers (transfer_id int primary key, transfer_code text not null, player_id int not null references players, old_club_id int references clubs, new_club_id int not null references clubs, fee int not null, agreed_on date not null, announced_on date);
insert into clubs values
    (1, 'TSV Brook', 'Brook', 1921, 2400), (2, 'Harbour Lions', 'Seaport', 1968, 5100), (3, 'Union Vale', 'Vale', 1899, 3300),
    (4, 'Red Mill', 'Milltown', 1984, 1800), (5, 'North Stars', 'Seaport', 2003, 4200), (6, 'Old Quarry', 'Vale', 1955, 900);
insert into players
select n, (array['Ada','Bo','Cleo','Dag','Elin','Finn','Gro','Hal','Ida','Jon'])[1 + n % 10] || ' ' || (array['Aker','Berg','Dahl','Falk','Holm','Lind','Moe'])[1 + n % 7],
    case when n % 13 = 0 then null else 1 + least(n % 7, 4) end, (array['keeper','wing','pivot','back'])[1 + n % 4], date '1988-02-03' + n * 167, 165 + (n * 17) % 41, (n * 29) % 97,
    date '2017-07-01' + n * 61
from generate_series(1, 44) n;
insert into matches
select n, 'M' || (200 + n), 1 + n % 5, 1 + (n + 1 + n % 3) % 5, date '2025-01-11' + n * 6, 18 + (n * 7) % 19, 17 + (n * 11) % 17, 350 + (n * 211) % 4300 + n, (array['played','played','postponed','played','forfeited'])[1 + n % 5]
from generate_series(1, 60) n;
insert into transfers
select n, 'TR-' || (500 + n), n, case when n % 5 = 0 then null else 1 + n % 4 end, 1 + (n + 2) % 5, 4000 + (n * 1730) % 90000, date '2024-06-01' + n * 13, case when n % 4 > 0 then date '2024-06-01' + n * 13 + (n * 5) % 9 - 2 end
from generate_series(1, 30) n;
