import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('claude', new URL('./fixtures/', import.meta.url));
