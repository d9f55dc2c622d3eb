import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('kimi-acp');
