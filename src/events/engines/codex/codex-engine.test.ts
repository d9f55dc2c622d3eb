import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('codex', new URL('./fixtures/', import.meta.url));
