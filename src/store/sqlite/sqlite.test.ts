import { join } from 'node:path';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeStore } from '../contract/store.contract.js';

describeStore('in SQLite', async () => `sqlite:${join(await makeFolder({}), 'data', 'sluice.db')}`);
