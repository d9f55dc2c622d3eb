import { makeSite } from '../../../test/postgres/fresh-database.js';
import { describeStoreCampaigns } from '../contract/campaigns.contract.js';

describeStoreCampaigns('in PostgreSQL', makeSite);
