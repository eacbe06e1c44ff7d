-- An amateur football league: two references to one table, by role. Today is 2026-05-20.
create table teams (
    team_id int primary key,
    team_name text not null,
    town text not null,
    founded int not null,
    ground_capacity int
);
create table players (
    player_id int primary key,
    team_id int not null references teams,
    player_name text not null,
    position text not null,
    born date not null,
    height_cm int,
    goals int not null,
    yellow_cards int not null
);
create table games (
    game_id int primary key,
    played_on date not null,
    home_team_id int not null references teams,
    away_team_id int not null references teams,
    home_goals int,
    away_goals int,
    attendance int,
    referee text,
    postponed boolean not null
);
insert into teams values (1, 'Ashford Rovers', 'Ashford', 1921, 2400), (2, 'Brent Albion', 'Brent', 1998, 600), (3, 'Calder Athletic', 'Calder', 1954, 1500), (4, 'Dunmore Town', 'Dunmore', 1887, 3100), (5, 'Eastwick Rangers', 'Eastwick', 2014, null);
insert into players values
    (1, 1, 'Liam Foss', 'forward', '1999-04-11', 181, 19, 2), (2, 1, 'Owen Tully', 'goalkeeper', '1988-12-01', 194, 0, 1), (3, 2, 'Kofi Adu', 'midfielder', '2003-07-23', 172, 7, 6), (4, 2, 'Ben Hale', 'defender', '1995-02-14', 186, 1, 9),
    (5, 3, 'Marco Riva', 'forward', '1992-09-30', 177, 23, 4), (6, 3, 'Jude Okoye', 'defender', '2006-01-08', 189, 2, 3), (7, 4, 'Sam Pryce', 'midfielder', '1997-06-19', 169, 11, 0), (8, 4, 'Theo Lunn', 'forward', '2001-11-27', 183, 15, 5), (9, 5, 'Amir Saleh', 'goalkeeper', '1990-05-05', 191, 0, 0);
insert into games values
    (1, '2026-01-10', 1, 2, 3, 0, 812, 'P. Dyer', false), (2, '2026-01-17', 3, 4, 2, 2, 640, 'M. Cole', false), (3, '2026-02-07', 2, 3, 1, 4, 205, 'P. Dyer', false), (4, '2026-02-21', 4, 1, 1, 0, 1330, 'S. Bann', false),
    (5, '2026-03-07', 1, 3, 2, 1, 905, 'M. Cole', false), (6, '2026-03-21', 4, 2, 5, 1, 990, 'P. Dyer', false), (7, '2026-04-04', 2, 1, 0, 2, 251, 'S. Bann', false), (8, '2026-04-18', 3, 1, null, null, null, null, true), (9, '2026-05-09', 4, 3, 0, 1, 1105, 'M. Cole', false);
