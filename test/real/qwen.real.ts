import { describeEngine } from './describe-engine.js';
import { describeTwoWay } from './describe-two-way.js';
import { REAL_ENGINES } from './real-engine.js';

describeEngine(REAL_ENGINES.qwen);
describeTwoWay(REAL_ENGINES.qwen);
