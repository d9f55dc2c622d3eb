import { join } from 'node:path';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeStoreCampaigns } from '../contract/campaigns.contract.js';

describeStoreCampaigns('in SQLite', async () => `sqlite:${join(await makeFolder({}), 'data', 'sluice.db')}`);
