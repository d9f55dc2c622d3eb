import { makeSite } from '../../../test/postgres/fresh-database.js';
import { describeStore } from '../contract/store.contract.js';

describeStore('a store on PostgreSQL', makeSite);
