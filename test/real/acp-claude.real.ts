import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('claude-acp');
