/** The label of each domain, in the order of the navigation. */
export const DOMAINS = {records: 'Records', companies: 'Companies', people: 'People', ontology: 'Projects', campaigns: 'Campaigns'};
