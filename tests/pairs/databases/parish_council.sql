-- Meetings and motions of two parish councils and their committees. Today is 2026-03-18.
create table meetings (
    id int primary key,
    body text not null,
    held_on date not null,
    chair text not null,
    present int not null
);
create table motions (
    id int primary key,
    meeting_id int not null references meetings,
    title text not null unique,
    mover text not null,
    seconder text,
    result text not null,
    votes_for int not null,
    votes_against text[]
);
create table letters (
    ref text primary key,
    subject text not null,
    written_by text not null,
    signed_by text,
    sent_on date not null,
    pages int not null
);
insert into meetings values
    (1, 'Parish Council', '2024-10-08', 'Agnes Hopkins', 9), (2, 'Footpaths Committee', '2024-11-19', 'Colin Pike', 5), (3, 'Parish Council', '2025-01-14', 'Agnes Hopkins', 8),
    (4, 'Finance Committee', '2025-02-25', 'Judith Amos', 4), (5, 'Parish Council', '2025-04-08', 'Agnes Hopkins', 10), (6, 'Footpaths Committee', '2025-06-17', 'Colin Pike', 6),
    (7, 'Parish Council', '2025-07-08', 'Judith Amos', 7), (8, 'Finance Committee', '2025-10-21', 'Judith Amos', 5), (9, 'Parish Council', '2026-01-13', 'Agnes Hopkins', 9),
    (10, 'Footpaths Committee', '2026-02-24', 'Colin Pike', 4);
insert into motions values
    (1, 1, 'Repair the lych gate', 'Agnes Hopkins', 'Colin Pike', 'Carried', 9, null), (2, 1, 'Sell the old pump', 'Bernard Yeo', 'Judith Amos', 'Defeated', 3, '{"Agnes Hopkins","Colin Pike"}'),
    (3, 2, 'Close the stile at Nag Lane', 'Colin Pike', 'Rosa Tully', 'Carried', 4, '{"Bernard Yeo"}'), (4, 2, 'Gravel for the mill path', 'Rosa Tully', 'Colin Pike', 'Carried', 5, null),
    (5, 3, 'Raise the precept by 4 percent', 'Judith Amos', 'Bernard Yeo', 'Carried', 6, '{"Rosa Tully"}'), (6, 3, 'Lease the upper meadow', 'Bernard Yeo', 'Rosa Tully', 'Withdrawn', 0, null),
    (7, 3, 'A bench for the green', 'Agnes Hopkins', 'Judith Amos', 'Carried', 8, null), (8, 4, 'Change the auditor', 'Judith Amos', 'Agnes Hopkins', 'Carried', 4, null),
    (9, 4, 'Buy a second mower', 'Bernard Yeo', null, 'Defeated', 1, '{"Judith Amos","Agnes Hopkins"}'), (10, 5, 'Twin with Saint-Aubert', 'Agnes Hopkins', 'Bernard Yeo', 'Carried', 7, '{"Colin Pike","Rosa Tully"}'),
    (11, 5, 'Ban bonfires on the green', 'Rosa Tully', 'Agnes Hopkins', 'Postponed', 0, null), (12, 5, 'New locks for the pavilion', 'Agnes Hopkins', 'Colin Pike', 'Carried', 10, null),
    (13, 6, 'Waymarks for the river walk', 'Rosa Tully', 'Bernard Yeo', 'Carried', 6, null), (14, 6, 'Reroute footpath 12', 'Colin Pike', 'Agnes Hopkins', 'Defeated', 2, '{"Rosa Tully"}'),
    (15, 7, 'Summer fair on the green', 'Agnes Hopkins', 'Rosa Tully', 'Carried', 7, null), (16, 7, 'Sell the upper meadow', 'Bernard Yeo', null, 'Defeated', 1, '{"Judith Amos"}'),
    (17, 8, 'Adopt the budget', 'Judith Amos', 'Bernard Yeo', 'Carried', 4, '{"Colin Pike"}'), (18, 8, 'Insure the pavilion', 'Colin Pike', 'Judith Amos', 'Postponed', 0, null),
    (19, 9, 'Speed limit of 20 on Nag Lane', 'Agnes Hopkins', 'Bernard Yeo', 'Carried', 8, '{"Rosa Tully"}'), (20, 9, 'Plant an orchard', 'Rosa Tully', 'Colin Pike', 'Carried', 9, null),
    (21, 9, 'Limewash the church wall', 'Colin Pike', null, 'Postponed', 0, null), (22, 10, 'Dogs on leads by the river', 'Rosa Tully', 'Colin Pike', 'Defeated', 1, '{"Bernard Yeo","Colin Pike"}');
insert into letters values
    ('L1', 'Potholes on Nag Lane', 'Agnes Hopkins', 'Judith Amos', '2024-12-03', 2), ('L2', 'Bus 14 on Sundays', 'Colin Pike', 'Agnes Hopkins', '2025-02-11', 1), ('L3', 'Broadband at Upper Coombe', 'Rosa Tully', 'Agnes Hopkins', '2025-05-06', 4),
    ('L4', 'Thanks to the bell ringers', 'Agnes Hopkins', null, '2025-06-30', 1), ('L5', 'The flooded underpass', 'Bernard Yeo', 'Judith Amos', '2025-09-16', 3), ('L6', 'Street lamps at dawn', 'Colin Pike', null, '2026-01-27', 2),
    ('L7', 'Closure of the post office', 'Agnes Hopkins', 'Judith Amos', '2026-03-09', 5);
