import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('qwen-acp');
