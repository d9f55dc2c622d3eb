import { makeSite } from '../../../test/postgres/fresh-database.js';
import { describeSharedStore } from '../contract/shared.contract.js';
import { describeStore } from '../contract/store.contract.js';

describeStore('in PostgreSQL', makeSite);
describeSharedStore('in PostgreSQL', makeSite);
