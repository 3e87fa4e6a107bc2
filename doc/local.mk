# Documents; man pages and examples come with the recipes.

dist_doc_DATA = README.md NEWS %D%/design.md %D%/hazards.md
EXTRA_DIST += %D%/packaging.md
