import { describeAcpAgent } from './describe-acp-agent.js';

describeAcpAgent('opencode-acp');
