import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('opencode', new URL('./fixtures/', import.meta.url));
