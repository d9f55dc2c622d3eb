/** The parts of the document that are the playground's own element on the site. */
const DOCUMENT = /^(?::root|html|body)(?![\w-])/;

/** Limits the styles of the console to the playground: elsewhere on the site they would change the theme. */
export function scopeConsoleStyles() {
  return {
    postcssPlugin: 'scope-console-styles',
    Once(root) {
      if (!/\/web\/[^?]*\.css/.test(root.source?.input.file ?? '')) return;
      root.walkRules((rule) => {
        if (rule.parent?.type === 'atrule' && rule.parent.name.endsWith('keyframes')) return;
        rule.selectors = rule.selectors.map((selector) =>
          DOCUMENT.test(selector) ? selector.replace(DOCUMENT, '.playground') : `.playground ${selector}`,
        );
      });
    },
  };
}
