import { describeStore } from '../contract/store.contract.js';

describeStore('in memory', async () => 'memory:');
