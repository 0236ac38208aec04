/** What is allowed of packages, each exception with its reason. */

/** Licenses (SPDX identifiers) under which packages may be used; those that the image contains carry them along. */
export const LICENSES: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'PSF-2.0',
  'Unlicense',
];

/** Licenses that some packages alone may have: name of the package (`*` within a name) to license and reason. */
export const LICENSES_OF: readonly {
  readonly name: RegExp;
  readonly license: string;
  readonly why: string;
}[] = [
  {
    name: /^caniuse-lite$/,
    license: 'CC-BY-4.0',
    why: 'data about browsers, which the bundler of workflows depends on; not changed, and its license file is in the image',
  },
  {
    name: /^@iconify-json\/simple-icons$/,
    license: 'CC0-1.0',
    why: 'icons of the generator of the documentation',
  },
  {
    name: /^lightningcss(-[a-z0-9-]+)?$/,
    license: 'MPL-2.0',
    why: 'a part of the test runner; for development only, so it is not passed on',
  },
  {
    name: /^unionfs$/,
    license: 'SEE LICENSE IN LICENSE',
    why: 'that file is the text of the Unlicense',
  },
];

/**
 * Packages with install scripts. No script is run: `npm ci --ignore-scripts` is how packages are installed here, in the Makefile and in
 * deploy/Dockerfile. A package that needs its script would not work, so a new one is looked at.
 */
export const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@swc/core': 'looks for its native part, which is a package of its own',
  esbuild: 'replaces its starter by its native part, which is a package of its own; it works without',
  protobufjs: 'warns about the version that is asked for',
};

/** Packages that are made together and share state: two versions of one would not know what the other does. */
export const SAME_VERSION: readonly { readonly family: RegExp; readonly why: string }[] = [
  {
    family: /^@temporalio\//,
    why: 'Temporal releases its SDK as one, and documents that all of its packages must have the same version',
  },
];
