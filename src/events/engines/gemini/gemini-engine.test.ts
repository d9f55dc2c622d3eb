import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('gemini', new URL('./fixtures/', import.meta.url));
