import { describeEngine } from './describe-engine.js';
import { REAL_ENGINES } from './real-engine.js';

describeEngine(REAL_ENGINES.copilot);
