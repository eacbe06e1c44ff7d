"""The words that queries for people use for seniority, employment, fields and kinds of experience, and their small talk."""

from __future__ import annotations

from functools import cache

from quarry.core.text import STOP_WORDS
from quarry.people.parsing.phrases import PhraseBook, phrase_table

_SENIORITY = """
intern: intern, interns, trainee, trainees, apprentice, apprentices
entry: junior, jr, fresher, freshers, entry level, new grad, new grads, fresh graduate, fresh graduates, early career
mid: mid level, midlevel, mid senior, mid career
senior: senior, seniors, sr
lead: lead, leads, team lead, team leads, tech lead, tech leads, technical lead, technical leads, lead level,
 principal, staff engineer, staff engineers
manager: manager, managers, manager level, people manager, people managers, engineering manager, engineering managers,
 general manager, general managers
director: director, directors, head of
executive: executive level, c level, c suite, cxo, cxos, ceo, ceos, cto, ctos, cfo, cfos, coo, coos, cmo, cmos, chro,
 vp, vps, svp, avp, evp, vice president,
 vice presidents
founder: founder, founders, cofounder, cofounders, co founder, co founders
"""

_EMPLOYMENT = """
full_time: full time, fulltime, permanent
part_time: part time, parttime
contract: contractor, contractors, contractual, on contract, contract basis, contract role, contract roles, contract
 work, contract job, contract jobs, contract position, contract to hire, fixed term
freelance: freelance, freelancer, freelancers, freelancing
internship: internship, internships, intern, interns
self_employed: self employed, own practice, own business, sole proprietor, independent consultant, independent
 consultants
volunteer: volunteer, volunteers, volunteering, volunteered, pro bono
"""

_INTENTS = """
work: work experience, employment, employed, worked, working, works
education: studied, study, studying, educated, degree, degrees, graduated, graduates, graduate, alumni, alumnus,
 alumna, student, students, mba, phd, bachelor, bachelors, master's, masters, diploma, coursework
project: side project, side projects, personal project, hackathon, hackathons, open source project, open source
 projects
business: own business, own company, own startup, entrepreneur, entrepreneurs, founded, started a company, runs a
 business
research: research, researcher, researchers, researched, published, publications, scientific paper, papers
teaching: taught, teach, teaches, teaching, teacher, teachers, lecturer, lecturers, professor, professors, instructor,
 instructors, tutor, tutors, tutored
community: community work, community organiser, community organizer, meetup, meetups, volunteering, volunteered,
 volunteer, volunteers
certification: certified, certification, certifications, certificate, licensed
achievement: award, awards, award winning, medal, medalist, prize, won
career_break: career break, sabbatical, returning after a break, returner, returnee
"""

_DOMAINS = """
software engineering: software, software engineering, software development, programming
data science: data science, data scientist, data scientists
machine learning: machine learning, ml, ai, artificial intelligence, deep learning
product management: product management, product manager, product managers
design: design
marketing: marketing
sales: sales
finance: finance, financial services, banking, fintech, accounting
operations: operations
human resources: human resources, hr
healthcare: healthcare, health care, medical, medicine, hospitals
education: education, edtech
manufacturing: manufacturing
logistics: logistics, freight, shipping
agriculture: agriculture, agri, farming, agritech
energy: energy, renewables, renewable energy
construction: construction
hospitality: hospitality, hotels
media: media
law: law, legal
research: research
public sector: public sector, government
"""

_SKILL_ALIASES = """
kubernetes: k8s
javascript: js
typescript: ts
postgresql: postgres
go: go, golang, go lang
r: r
c: c
react: react.js, reactjs
node.js: nodejs, node
vue: vue.js, vuejs
c#: csharp, c sharp
c++: cpp
nlp: natural language processing
computer vision: cv models
a/b testing: ab testing, split testing
"""

ROLES = frozenset(
    """
    accountant accountants administrator administrators advisor advisors advocate advocates analyst analysts architect
    architects artist artists assistant assistants associate associates auditor auditors buyer buyers chef chefs coach
    coaches consultant consultants coordinator coordinators counsel designer designers dev devs developer developers
    doctor doctors editor editors electrician electricians engineer engineers executive executives expert experts
    farmer farmers filmmaker filmmakers illustrator illustrators instructor instructors journalist journalists lawyer
    lawyers lecturer lecturers librarian librarians manager managers marketer marketers mechanic mechanics midwife
    midwives nurse nurses officer officers operator operators partner partners pharmacist pharmacists photographer
    photographers physician physicians planner planners producer producers professional professionals professor
    professors programmer programmers recruiter recruiters representative researcher researchers sailor sailors
    scientist scientists specialist specialists statistician statisticians strategist strategists supervisor
    supervisors surveyor surveyors teacher teachers technician technicians technologist technologists therapist
    therapists trainer trainers translator translators tutor tutors welder welders worker workers writer writers
    """.split()
)
"""What people are by trade. By themselves the commonest of them say little; with the word before them they are a title."""

GENERIC_ROLES = frozenset(
    """
    assistant assistants associate associates dev devs developer developers engineer engineers executive executives
    expert experts manager managers officer officers professional professionals specialist specialists worker workers
    """.split()
)

FILLERS = STOP_WORDS | frozenset(
    """
    people person persons folk folks someone somebody candidate candidates profile profiles talent individual
    individuals member members guy guys anybody who whoever pls plz hi hello hey thanks thank looking seeking search
    searching hire hiring need needs needed require requires wanted wanting like similar suggest recommend list
    experience experienced experiences exp background backgrounds expertise skill skills skilled proficient
    proficiency familiar familiarity knowledge knows known knowing understand understanding good great best top
    excellent strong solid hands deep proven ideal currently current now presently present previously previous earlier
    formerly former ex past still work working works worked employed employee employees alumni job jobs role roles
    position positions level career must only strictly mandatory required essential exclusively compulsory preferred
    preferably prefer prefers ideally optional optionally bonus plus nice longer joined moved noone nobody
    asap urgent urgently possible immediately hope
    based located living lives live residing
    near nearby around years year yrs yr least minimum maximum min max more less use used uses using via include
    includes including especially particularly able ability also either both well as etc within has had have been
    being per upto under open available ready willing want without no not except excluding exclude other rather team
    teams company companies field area areas domain industry sector space
    """.split()
)
"""Words that say nothing about whom to find, once what they belong to has been read."""

NO_COMPANY = frozenset(
    """
    home night scratch scale least most best first last once present all any some various multiple several different
    many big large small medium early mid late stage series top leading major local global international national
    regional indian foreign startup startups company companies firm firms corporate corporates agency agencies
    organisation organisation organizations mnc mncs ngo ngos nonprofit nonprofits bank banks hospital hospitals
    school schools college colleges university universities factory factories hotel hotels restaurant restaurants shop
    shops studio studios lab labs consultancy consultancies enterprise enterprises unicorn unicorns faang fintech
    edtech healthtech saas b2b b2c bfsi fmcg it bpo kpo psu govt government court courts sea ground front work office
    offices site sites remote abroad overseas anywhere management senior junior director manager every each ideation
    idea concept zero beginning start end time times peak least-cost something somewhere
    """.split()
)
"""What stands behind "at" or "from" without being an employer's name."""

PLACE_IN_NAME = frozenset("iit iim iiit nit bits nid nift aiims isb xlri tiss ims vit srm".split())
"""Indian institutes that a city's name belongs to: "IIT Bombay"."""


@cache
def seniority_book() -> PhraseBook:
    return phrase_table(_SENIORITY)


@cache
def employment_book() -> PhraseBook:
    return phrase_table(_EMPLOYMENT)


@cache
def intent_book() -> PhraseBook:
    return phrase_table(_INTENTS)


@cache
def domain_book() -> PhraseBook:
    return phrase_table(_DOMAINS)


@cache
def skill_alias_book() -> PhraseBook:
    return phrase_table(_SKILL_ALIASES)
