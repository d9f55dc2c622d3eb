import { describeStore } from '../contract/store.contract.js';

describeStore('a store in memory', async () => 'memory:');
