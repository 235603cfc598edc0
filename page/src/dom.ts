// Elements in one line, without a framework.

type Child = Node | string | null | undefined | false;
type Properties<E> = { [K in keyof E]?: E[K] } & { data?: Record<string, string>; aria?: Record<string, string> };

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { data, aria, ...rest } = properties as Properties<HTMLElement>;
  Object.assign(element, rest);
  for (const [name, value] of Object.entries(data ?? {})) element.dataset[name] = value;
  for (const [name, value] of Object.entries(aria ?? {})) element.setAttribute(name === 'role' ? name : `aria-${name}`, value);
  element.append(...children.filter((child): child is Node | string => child != null && child !== false));
  return element;
}

const CONTROLS = 'button, input, a[href], [tabindex]';

/** Puts children in place of others. If the focus was on one of these, it goes to the control at the same position. */
export function replace(parent: Element, ...children: Child[]): void {
  const { activeElement } = document;
  const at = activeElement !== null && parent.contains(activeElement) ? [...parent.querySelectorAll(CONTROLS)].indexOf(activeElement) : -1;
  parent.replaceChildren(...children.filter((child): child is Node | string => child != null && child !== false));
  if (at >= 0 && document.activeElement !== activeElement) (parent.querySelectorAll(CONTROLS)[at] as HTMLElement | undefined)?.focus({ preventScroll: true });
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}
