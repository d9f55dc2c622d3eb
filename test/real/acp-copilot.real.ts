import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('copilot-acp');
