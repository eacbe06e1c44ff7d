-- A language school's pupils, courses and exams. Today is 2026-06-30.
create table courses (
    course_id int primary key,
    title text not null,
    level text not null,
    weeks int not null,
    fee numeric(7, 2) not null,
    starts_on date not null
);
create table pupils (
    pupil_id int primary key,
    name text not null,
    age int not null,
    country text not null,
    enrolled_on date not null,
    left_on date
);
create table exams (
    exam_id int primary key,
    pupil_id int not null references pupils,
    course_id int not null references courses,
    sat_on date not null,
    result text not null,
    points int not null
);
create table payments (
    payment_id int primary key,
    pupil_id int not null references pupils,
    course_id int not null references courses,
    amount numeric(7, 2) not null,
    due_on date not null,
    paid_on date
);
insert into courses values (1, 'Spanish for beginners', 'A1', 10, 320, '2026-01-12'), (2, 'Spanish conversation', 'B2', 6, 280, '2026-03-02'), (3, 'Italian intensive', 'A2', 4, 540, '2026-05-04'), (4, 'Greek basics', 'A1', 12, 360, '2026-02-09'), (5, 'Business French', 'C1', 8, 610, '2026-09-07');
insert into pupils values (1, 'Wendy Groves', 67, 'UK', '2025-12-01', null), (2, 'Haruto Ito', 24, 'Japan', '2026-01-05', null), (3, 'Paula Reyes', 31, 'Mexico', '2026-02-20', '2026-05-15'), (4, 'Stefan Kuhn', 45, 'Germany', '2025-11-11', null), (5, 'Ayla Tekin', 19, 'Turkey', '2026-04-28', null), (6, 'Doug Barr', 58, 'UK', '2026-01-02', '2026-03-01'), (7, 'Ning Zhao', 28, 'China', '2026-06-01', null);
insert into exams values (1, 1, 1, '2026-03-20', 'passed', 71), (2, 2, 1, '2026-03-20', 'passed', 88), (3, 6, 1, '2026-03-21', 'failed', 39), (4, 4, 2, '2026-04-11', 'passed', 64), (5, 3, 2, '2026-04-11', 'failed', 47), (6, 5, 3, '2026-05-30', 'passed', 92), (7, 4, 4, '2026-05-02', 'failed', 30), (8, 2, 2, '2026-04-12', 'passed', 79), (9, 4, 4, '2026-06-13', 'passed', 58);
insert into payments values (1, 1, 1, 320, '2026-01-10', '2026-01-08'), (2, 2, 1, 320, '2026-01-10', '2026-01-12'), (3, 6, 1, 320, '2026-01-10', null), (4, 4, 2, 280, '2026-03-01', '2026-02-27'), (5, 3, 2, 280, '2026-03-01', '2026-03-30'), (6, 5, 3, 540, '2026-05-01', null), (7, 4, 4, 360, '2026-02-07', '2026-02-07'), (8, 2, 2, 280, '2026-03-01', '2026-03-01'), (9, 7, 5, 610, '2026-08-30', null);
