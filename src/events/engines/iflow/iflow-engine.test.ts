import { describeEngineContract } from '../../engine.contract.js';

describeEngineContract('iflow', new URL('./fixtures/', import.meta.url));
