import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('qwen', new URL('./fixtures/', import.meta.url));
